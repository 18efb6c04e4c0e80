"""Names and things for the word problems."""

from typing import NamedTuple


class Person(NamedTuple):
    """A first name with its pronouns."""

    name: str
    they: str
    their: str
    them: str

    @property
    def they_capital(self) -> str:
        return self.they.capitalize()


_SHE = ("Amara", "Bettina", "Chiara", "Dalia", "Esther", "Farida", "Greta", "Hana", "Ingrid", "Juno", "Keziah", "Leila")
_HE = ("Anselm", "Bruno", "Cyril", "Dmitri", "Emeka", "Farouk", "Gideon", "Hugo", "Ivo", "Jamal", "Kofi", "Lorenzo")
PEOPLE = tuple(Person(name, "she", "her", "her") for name in _SHE) + tuple(Person(n, "he", "his", "him") for n in _HE)

PLACES = ("Alder Creek", "Brackwater", "Copperfield", "Dunmarsh", "Eastmoor", "Fallowby", "Greywater", "Hollin Bridge")
FRUITS = ("apples", "apricots", "figs", "lemons", "pears", "plums", "quinces", "tangerines")
GOODS = (
    ("notebook", "notebooks"),
    ("lantern", "lanterns"),
    ("scarf", "scarves"),
    ("clay mug", "clay mugs"),
    ("paintbrush", "paintbrushes"),
    ("jigsaw puzzle", "jigsaw puzzles"),
    ("houseplant", "houseplants"),
    ("wooden spoon", "wooden spoons"),
)
WISHES = (
    "a bicycle",
    "a telescope",
    "a second-hand cello",
    "a camping stove",
    "a sewing machine",
    "a kayak",
    "a drum kit",
)
BAKES = ("cinnamon rolls", "rye loaves", "poppy-seed bagels", "cheese scones", "plum tarts", "oat biscuits")
COLLECTIBLES = ("stamps", "marbles", "seashells", "postcards", "football cards", "old coins")
