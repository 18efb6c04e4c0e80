"""Word problems about money, work and measuring. Each template draws its numbers and works out the answer."""

from voirdire.benchmarks.bundled.drawing import Draw, Solution
from voirdire.benchmarks.bundled.vocabulary import BAKES, COLLECTIBLES, FRUITS, GOODS, PEOPLE, PLACES, WISHES


def change_from_a_note(draw: Draw, solution: Solution) -> str:
    person, ((one, ones), (other, others)) = draw.one(PEOPLE), draw.several(GOODS, 2)
    n, price, m, other_price = draw.whole(2, 5), draw.whole(3, 9), draw.whole(2, 4), draw.whole(4, 11)
    first = solution.step(f"The {ones} cost ${{}}.", f"{n}*{price}")
    second = solution.step(f"The {others} cost ${{}}.", f"{m}*{other_price}")
    total = solution.step("Together that is ${}.", f"{first}+{second}")
    solution.step(f"{person.name} gets back ${{}}.", f"100-{total}")
    return (
        f"At a market stall a {one} costs ${price} and a {other} costs ${other_price}. {person.name} buys {n} {ones} "
        f"and {m} {others} and pays with a $100 note. How many dollars does {person.they} get back?"
    )


def saving_up(draw: Draw, solution: Solution) -> str:
    person, wish = draw.one(PEOPLE), draw.one(WISHES)
    weekly, weeks, spent = draw.whole(12, 35), draw.whole(5, 16), draw.whole(3, 8)
    saved = draw.whole(20, 90, 5)
    price = saved + (weekly - spent) * weeks
    missing = solution.step(f"{person.name} still needs ${{}}.", f"{price}-{saved}")
    net = solution.step(f"{person.they_capital} puts aside ${{}} a week.", f"{weekly}-{spent}")
    solution.step("That takes {} weeks.", f"{missing}/{net}")
    return (
        f"{person.name} wants to buy {wish} for ${price} and has saved ${saved}. {person.they_capital} earns "
        f"${weekly} a week by walking dogs and spends ${spent} of it on the bus. After how many weeks can "
        f"{person.they} buy {wish}?"
    )


def price_with_discount(draw: Draw, solution: Solution) -> str:
    person, (thing, things) = draw.one(PEOPLE), draw.one(GOODS)
    price, percent, n = draw.whole(20, 80, 20), draw.one((5, 10, 15, 20, 25, 30)), draw.whole(3, 9)
    off = solution.step("The discount on each is ${}.", f"{price}*{percent}/100")
    reduced = solution.step(f"A {thing} costs ${{}} in the sale.", f"{price}-{off}")
    solution.step(f"{person.name} pays ${{}}.", f"{n}*{reduced}")
    return (
        f"At a craft fair a {thing} usually costs ${price}. In a sale everything is {percent}% cheaper, and "
        f"{person.name} buys {n} {things}. How many dollars does {person.they} pay?"
    )


def fence_with_a_gate(draw: Draw, solution: Solution) -> str:
    person, length, width = draw.one(PEOPLE), draw.whole(14, 40), draw.whole(6, 13)
    gate, cost = draw.whole(2, 4), draw.whole(6, 18)
    around = solution.step("Around the garden it is {} metres.", f"2*({length}+{width})")
    fence = solution.step("The fence is {} metres long.", f"{around}-{gate}")
    solution.step("It costs ${}.", f"{fence}*{cost}")
    return (
        f"{person.name} is putting a fence around a rectangular garden that is {length} metres long and {width} "
        f"metres wide, with an opening of {gate} metres for a gate. The fence costs ${cost} a metre. How many "
        "dollars does the fence cost?"
    )


def overtime(draw: Draw, solution: Solution) -> str:
    person, job = (
        draw.one(PEOPLE),
        draw.one(("in a plant nursery", "at a ferry dock", "in a print shop", "on a dairy farm")),
    )
    hourly, more, usual, hours = draw.whole(13, 26), draw.whole(4, 9), draw.whole(30, 38), draw.whole(41, 50)
    base = solution.step(f"The first {usual} hours bring ${{}}.", f"{usual}*{hourly}")
    extra = solution.step(f"{person.name} works {{}} hours more.", f"{hours}-{usual}")
    rate = solution.step("Each of these brings ${}.", f"{hourly}+{more}")
    overtime_pay = solution.step("Together they bring ${}.", f"{extra}*{rate}")
    solution.step(f"{person.name} earns ${{}}.", f"{base}+{overtime_pay}")
    return (
        f"{person.name} works {job} for ${hourly} an hour. Every hour beyond {usual} in one week is paid ${more} "
        f"more than usual. How many dollars does {person.name} earn in a week of {hours} hours?"
    )


def bakery_profit(draw: Draw, solution: Solution) -> str:
    person, bake = draw.one(PEOPLE), draw.one(BAKES)
    baked, cost, price = draw.whole(60, 120, 5), draw.whole(1, 2), draw.whole(4, 8, 2)
    sold = baked - draw.whole(10, 25)
    spent = solution.step("Baking costs ${}.", f"{baked}*{cost}")
    morning = solution.step("The first sales bring ${}.", f"{sold}*{price}")
    left = solution.step(f"{{}} {bake} are left.", f"{baked}-{sold}")
    evening = solution.step("At half price these bring ${}.", f"{left}*{price}/2")
    solution.step("The profit is ${}.", f"{morning}+{evening}-{spent}")
    return (
        f"{person.name} bakes {baked} {bake}; each costs ${cost} to make. {person.they_capital} sells {sold} of them "
        f"at ${price} each, and in the evening all the others at half that price. How many dollars of profit does "
        f"{person.they} make?"
    )


def purse_backwards(draw: Draw, solution: Solution) -> str:
    person, fruit = draw.one(PEOPLE), draw.one(FRUITS)
    left, spent = draw.whole(7, 30), draw.whole(4, 18)
    before = solution.step(f"Before buying the {fruit}, {person.they} had ${{}}.", f"{left}+{spent}")
    solution.step(f"That was half of what {person.they} brought, which was ${{}}.", f"{before}*2")
    return (
        f"At the market {person.name} spent half of {person.their} money on a pair of shoes and then ${spent} on "
        f"{fruit}. {person.they_capital} came home with ${left}. How many dollars had {person.they} taken to the "
        "market?"
    )


def theatre_tickets(draw: Draw, solution: Solution) -> str:
    adults, times, place = draw.whole(24, 70), draw.whole(2, 4), draw.one(PLACES)
    adult, child = draw.whole(9, 18), draw.whole(3, 7)
    children = solution.step("{} children come.", f"{times}*{adults}")
    first = solution.step("The adults pay ${}.", f"{adults}*{adult}")
    second = solution.step("The children pay ${}.", f"{children}*{child}")
    solution.step("Together they pay ${}.", f"{first}+{second}")
    word = {2: "twice", 3: "three times", 4: "four times"}[times]
    return (
        f"The {place} Puppet Theatre charges ${adult} for an adult and ${child} for a child. On Sunday {adults} "
        f"adults come, and {word} as many children. How many dollars does the theatre take?"
    )


def two_phone_plans(draw: Draw, solution: Solution) -> str:
    person, base, per = draw.one(PEOPLE), draw.whole(8, 15), draw.whole(2, 4)
    gigabytes, months = draw.whole(6, 12), draw.whole(6, 18)
    flat = base + per * gigabytes - draw.whole(2, 9)
    data = solution.step("The data costs ${} a month.", f"{gigabytes}*{per}")
    monthly = solution.step("The first plan costs ${} a month.", f"{base}+{data}")
    difference = solution.step("The second plan is ${} a month cheaper.", f"{monthly}-{flat}")
    solution.step(f"In {months} months that saves ${{}}.", f"{difference}*{months}")
    return (
        f"One phone plan costs ${base} a month and ${per} for each gigabyte of data. Another costs ${flat} a month "
        f"with as much data as one likes. {person.name} uses {gigabytes} gigabytes a month. How many dollars does "
        f"{person.they} save in {months} months with the second plan?"
    )


def average_of_games(draw: Draw, solution: Solution) -> str:
    person, average = draw.one(PEOPLE), draw.whole(20, 40)
    scores = [average + draw.whole(-9, 3) for _ in range(3)]
    game = draw.one(("darts", "skittles", "archery", "mini-golf league"))
    needed = solution.step("Four games need {} points.", f"4*{average}")
    so_far = solution.step(f"{person.name} has {{}} points so far.", f"{scores[0]}+{scores[1]}+{scores[2]}")
    solution.step(f"{person.they_capital} needs {{}} points in the fourth game.", f"{needed}-{so_far}")
    return (
        f"In the first three games of a {game} season {person.name} scores {scores[0]}, {scores[1]} and {scores[2]} "
        f"points. How many points does {person.they} need in the fourth game for an average of {average} over all "
        "four?"
    )


def painting_walls(draw: Draw, solution: Solution) -> str:
    person, walls, height = draw.one(PEOPLE), draw.whole(3, 4), draw.whole(3, 4)
    length, cover, door = draw.whole(6, 12), draw.whole(5, 8), 2
    # The door's size is chosen so that the tins come out even.
    area = walls * height * length
    door += (area - door) % cover
    wall = solution.step("One wall has {} square metres.", f"{height}*{length}")
    total = solution.step("All walls have {} square metres.", f"{walls}*{wall}")
    painted = solution.step("{} square metres are painted.", f"{total}-{door}")
    solution.step(f"{person.name} needs {{}} tins.", f"{painted}/{cover}")
    return (
        f"{person.name} is painting {walls} walls of a workshop. Each wall is {height} metres high and {length} "
        f"metres long, and a tin of paint covers {cover} square metres. The doors and windows, {door} square metres "
        f"in all, are not painted. How many tins of paint does {person.they} need?"
    )


def swapping_collections(draw: Draw, solution: Solution) -> str:
    person, (given, got) = draw.one(PEOPLE), draw.several(COLLECTIBLES, 2)
    rate, per, swaps, kept = draw.whole(3, 7), draw.whole(2, 4), draw.whole(6, 15), draw.whole(5, 25)
    owned = rate * swaps + kept
    swapped = solution.step(f"{person.name} swaps {{}} {given}.", f"{owned}-{kept}")
    times = solution.step(f"That is {{}} groups of {rate}.", f"{swapped}/{rate}")
    solution.step(f"{person.they_capital} gets {{}} {got}.", f"{times}*{per}")
    return (
        f"At a collectors' fair one can swap {rate} {given} for {per} {got}. {person.name} has {owned} {given} and "
        f"swaps all but {kept} of them. How many {got} does {person.they} get?"
    )


def shared_holiday(draw: Draw, solution: Solution) -> str:
    friends, nights = draw.whole(4, 8), draw.whole(3, 9)
    place, cabin = draw.one(PLACES), friends * draw.whole(9, 20)
    food = friends * draw.whole(12, 30)
    lodging = solution.step("The cabin costs ${}.", f"{nights}*{cabin}")
    total = solution.step("With the food that is ${}.", f"{lodging}+{food}")
    solution.step("Each friend pays ${}.", f"{total}/{friends}")
    return (
        f"{friends} friends rent a cabin near {place} for {nights} nights at ${cabin} a night and buy food for "
        f"${food}. They share all costs equally. How many dollars does each of them pay?"
    )


MONEY = (
    change_from_a_note,
    saving_up,
    price_with_discount,
    fence_with_a_gate,
    overtime,
    bakery_profit,
    purse_backwards,
    theatre_tickets,
    two_phone_plans,
    average_of_games,
    painting_walls,
    swapping_collections,
    shared_holiday,
)
