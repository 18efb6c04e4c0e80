"""Word problems about amounts, time, distance and area. Each template draws its numbers and works out the answer."""

from voirdire.benchmarks.bundled.drawing import Draw, Solution
from voirdire.benchmarks.bundled.vocabulary import COLLECTIBLES, FRUITS, PEOPLE, PLACES


def rows_of_chairs(draw: Draw, solution: Solution) -> str:
    rows, chairs, place = draw.whole(8, 24), draw.whole(11, 32), draw.one(PLACES)
    event = draw.one(("the spring concert", "a chess final", "the mayor's speech", "a puppet show"))
    solution.step("The hall has {} chairs.", f"{rows}*{chairs}")
    return (
        f"For {event}, the caretaker of {place} Town Hall sets out {rows} rows of {chairs} chairs. How many chairs "
        "does the caretaker set out?"
    )


def picked_and_given_away(draw: Draw, solution: Solution) -> str:
    person, fruit = draw.one(PEOPLE), draw.one(FRUITS)
    baskets, each, friends, share = draw.whole(4, 9), draw.whole(18, 36), draw.whole(3, 6), draw.whole(5, 11)
    picked = solution.step(f"{person.name} picks {{}} {fruit}.", f"{baskets}*{each}")
    given = solution.step(f"{person.they_capital} gives away {{}} {fruit}.", f"{friends}*{share}")
    solution.step(f"{person.they_capital} has {{}} {fruit} left.", f"{picked}-{given}")
    return (
        f"{person.name} fills {baskets} baskets with {each} {fruit} each. On the way home {person.they} gives "
        f"{share} {fruit} to each of {friends} neighbours. How many {fruit} does {person.name} have left?"
    )


def class_in_fractions(draw: Draw, solution: Solution) -> str:
    first, second = draw.one((3, 4, 5)), draw.one((2, 3, 4))
    pupils = first * second * draw.whole(2, 6) * (first - 1)
    sport, other = draw.several(("swimming", "fencing", "rowing", "judo", "climbing"), 2)
    taken = solution.step(f"{{}} pupils choose {sport}.", f"{pupils}/{first}")
    rest = solution.step("That leaves {} pupils.", f"{pupils}-{taken}")
    others = solution.step(f"Of these, {{}} choose {other}.", f"{rest}/{second}")
    solution.step("So {} pupils play table tennis.", f"{rest}-{others}")
    return (
        f"Each of the {pupils} pupils of a school year chooses one sport. One {_part(first)} of them choose {sport}, "
        f"and one {_part(second)} of the others choose {other}. Everyone else plays table tennis. How many pupils "
        "play table tennis?"
    )


def _part(parts: int) -> str:
    return {2: "half", 3: "third", 4: "quarter", 5: "fifth"}[parts]


def two_leg_ride(draw: Draw, solution: Solution) -> str:
    person, (start, end) = draw.one(PEOPLE), draw.several(PLACES, 2)
    slow, fast = draw.whole(11, 17), draw.whole(18, 26)
    first, second = draw.whole(2, 4), draw.whole(2, 5)
    uphill = solution.step("The uphill part is {} km long.", f"{slow}*{first}")
    level = solution.step("The level part is {} km long.", f"{fast}*{second}")
    solution.step("The whole ride is {} km long.", f"{uphill}+{level}")
    return (
        f"{person.name} cycles from {start} to {end}. For the first {first} hours the road climbs and {person.they} "
        f"rides at {slow} km per hour; for the remaining {second} hours it is level and {person.they} rides at "
        f"{fast} km per hour. How many kilometres long is the ride?"
    )


def recipe_for_more(draw: Draw, solution: Solution) -> str:
    person, dish = draw.one(PEOPLE), draw.one(("lentil stew", "mushroom risotto", "fish soup", "vegetable curry"))
    serves, per_head, guests, pantry = (
        draw.whole(3, 6),
        draw.whole(70, 130, 5),
        draw.whole(9, 20),
        draw.whole(100, 400, 50),
    )
    ingredient = {"lentil stew": "lentils", "mushroom risotto": "rice", "fish soup": "fish"}.get(dish, "chickpeas")
    amount = serves * per_head
    one = solution.step(f"One person needs {{}} g of {ingredient}.", f"{amount}/{serves}")
    all_of_them = solution.step(f"{guests} people need {{}} g.", f"{one}*{guests}")
    solution.step(f"{person.name} must buy {{}} g.", f"{all_of_them}-{pantry}")
    return (
        f"A recipe for {dish} serves {serves} people and calls for {amount} g of {ingredient}. {person.name} is "
        f"cooking it for {guests} people and already has {pantry} g of {ingredient}. How many more grams does "
        f"{person.they} need?"
    )


def ages(draw: Draw, solution: Solution) -> str:
    elder, younger = draw.several(PEOPLE, 2)
    times, age, years = draw.whole(2, 4), draw.whole(6, 14), draw.whole(3, 12)
    now = solution.step(f"{elder.name} is {{}} years old now.", f"{times}*{age}")
    then = solution.step(f"In {years} years {elder.name} will be {{}}.", f"{now}+{years}")
    later = solution.step(f"By then {younger.name} will be {{}}.", f"{age}+{years}")
    solution.step("Together they will be {}.", f"{then}+{later}")
    word = {2: "twice", 3: "three times", 4: "four times"}[times]
    return (
        f"{elder.name} is {word} as old as {elder.their} cousin {younger.name}, who is {age}. What will the sum of "
        f"their ages be in {years} years?"
    )


def filling_a_tank(draw: Draw, solution: Solution) -> str:
    tap, leak, minutes = draw.whole(14, 30), draw.whole(3, 9), draw.whole(12, 40)
    already = draw.whole(40, 160, 10)
    capacity = already + (tap - leak) * minutes
    vessel = draw.one(("rain tank", "fish pond", "cattle trough", "paddling pool"))
    missing = solution.step("{} litres are missing.", f"{capacity}-{already}")
    net = solution.step("Each minute the water rises by {} litres.", f"{tap}-{leak}")
    solution.step("It takes {} minutes.", f"{missing}/{net}")
    return (
        f"A {vessel} that holds {capacity} litres has {already} litres of water in it. A hose adds {tap} litres a "
        f"minute, but a crack lets {leak} litres a minute run out. After how many minutes is the {vessel} full?"
    )


def rest_of_the_book(draw: Draw, solution: Solution) -> str:
    person, days, pages = draw.one(PEOPLE), draw.whole(4, 9), draw.whole(16, 34)
    rest_days, rest_pages = draw.whole(3, 8), draw.whole(20, 45)
    total = days * pages + rest_days * rest_pages
    read = solution.step(f"{person.name} has read {{}} pages.", f"{days}*{pages}")
    left = solution.step("{} pages are left.", f"{total}-{read}")
    solution.step(f"{person.they_capital} must read {{}} pages a day.", f"{left}/{rest_days}")
    return (
        f"{person.name} has borrowed a book of {total} pages. For {days} days {person.they} reads {pages} pages a "
        f"day. The book is due in {rest_days} more days, and {person.they} wants to read the same number of pages on "
        "each of them. How many pages a day is that?"
    )


def sharing_in_a_ratio(draw: Draw, solution: Solution) -> str:
    (first, second), things = draw.several(PEOPLE, 2), draw.one(COLLECTIBLES)
    small, large = draw.one(((2, 3), (2, 5), (3, 4), (3, 5), (3, 7), (4, 7), (5, 8)))
    total = (small + large) * draw.whole(6, 19)
    parts = solution.step("There are {} parts.", f"{small}+{large}")
    part = solution.step(f"One part is {{}} {things}.", f"{total}/{parts}")
    mine = solution.step(f"{first.name} gets {{}} {things}.", f"{small}*{part}")
    yours = solution.step(f"{second.name} gets {{}} {things}.", f"{large}*{part}")
    solution.step(f"{second.name} gets {{}} more.", f"{yours}-{mine}")
    return (
        f"{first.name} and {second.name} share {total} {things} in the ratio {small}:{large}. How many more {things} "
        f"than {first.name} does {second.name} get?"
    )


def bus_stops(draw: Draw, solution: Solution) -> str:
    off, on, last = draw.whole(3, 9), draw.whole(4, 12), draw.whole(2, 9)
    start = 2 * draw.whole(10, 19) + off - on
    places = draw.several(PLACES, 3)
    first = solution.step(f"After {places[1]} there are {{}} passengers.", f"{start}-{off}+{on}")
    half = solution.step(f"At {places[2]} {{}} passengers get off.", f"{first}/2")
    solution.step("In the end there are {} passengers.", f"{first}-{half}+{last}")
    return (
        f"A bus leaves {places[0]} with {start} passengers. At {places[1]}, {off} get off and {on} get on. At "
        f"{places[2]}, half of the passengers get off and {last} get on. How many passengers are on the bus then?"
    )


def packed_crates(draw: Draw, solution: Solution) -> str:
    crates, boxes, pieces = draw.whole(3, 8), draw.whole(10, 24, 2), draw.whole(10, 30, 10)
    percent, thing = draw.one((5, 10, 20)), draw.one(("light bulbs", "teacups", "tiles", "glass jars"))
    total_boxes = solution.step("There are {} boxes.", f"{crates}*{boxes}")
    total = solution.step(f"They hold {{}} {thing}.", f"{total_boxes}*{pieces}")
    broken = solution.step(f"{{}} {thing} are broken.", f"{total}*{percent}/100")
    solution.step(f"{{}} {thing} can be sold.", f"{total}-{broken}")
    return (
        f"A shop receives {crates} crates. Each crate holds {boxes} boxes with {pieces} {thing} in every box. "
        f"{percent}% of the {thing} arrive broken. How many {thing} are whole?"
    )


def doubling(draw: Draw, solution: Solution) -> str:
    start, days, removed = draw.whole(4, 15), draw.whole(3, 5), draw.whole(11, 29)
    thing = draw.one(("water lilies", "duckweed patches", "rabbits", "mushrooms"))
    product = "*".join(["2"] * days)
    grown = solution.step(f"After {days} weeks there are {{}} {thing}.", f"{start}*{product}")
    solution.step(f"{{}} {thing} remain.", f"{grown}-{removed}")
    return (
        f"The number of {thing} on an island doubles every week. There are {start} {thing} at first. After {days} "
        f"weeks the warden takes {removed} of them to another island. How many {thing} remain?"
    )


def practice_minutes(draw: Draw, solution: Solution) -> str:
    person, instrument = draw.one(PEOPLE), draw.one(("oboe", "accordion", "violin", "trumpet", "harp"))
    weekday, weekend, weeks = draw.whole(15, 40, 5), draw.whole(45, 90, 5), draw.whole(3, 8)
    school = solution.step("From Monday to Friday that makes {} minutes.", f"5*{weekday}")
    free = solution.step("Saturday and Sunday add {} minutes.", f"2*{weekend}")
    week = solution.step("A week has {} minutes of practice.", f"{school}+{free}")
    solution.step(f"In {weeks} weeks that is {{}} minutes.", f"{week}*{weeks}")
    return (
        f"{person.name} practises the {instrument} for {weekday} minutes on every day from Monday to Friday, and for "
        f"{weekend} minutes on each day of the weekend. How many minutes does {person.they} practise in {weeks} "
        "weeks?"
    )


AMOUNTS = (
    rows_of_chairs,
    picked_and_given_away,
    class_in_fractions,
    two_leg_ride,
    recipe_for_more,
    ages,
    filling_a_tank,
    rest_of_the_book,
    sharing_in_a_ratio,
    bus_stops,
    packed_crates,
    doubling,
    practice_minutes,
)
