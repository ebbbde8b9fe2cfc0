"""English wording as tables: closed classes of words, and content words that share an idea.

Belongs here: data about the language. Must not: data about any base or question set, rules.
"""

from __future__ import annotations

from typing import Final

WH: Final = {
    "who": "person", "whom": "person", "whose": "person", "where": "place", "what": None,
    "which": None, "when": "time", "how": None,
}  # fmt: skip
BE: Final = frozenset("be am is are was were been being 's".split())
AUXILIARIES: Final = BE | frozenset(
    "do does did have has had having can could will would shall should may might must".split()
)
COMMANDS: Final = frozenset("list name show give enumerate tell find print identify".split())
TIMELINES: Final = frozenset("timeline history chronology sequence succession evolution".split())
PRONOUNS: Final = frozenset("he she it they him her them his its their this that".split())
DETERMINERS: Final = frozenset(
    "the a an this that these those all every each any some his her its their".split()
)
PREPOSITIONS: Final = frozenset(
    "of for to in at from with as by on over under into onto within among amongst between "
    "against about through upon near inside outside".split()
)
RELATIVES: Final = frozenset("who that which whom".split())
UNITS: Final = {
    "year": "year", "years": "year", "month": "month", "months": "month", "day": "day",
    "days": "day", "date": "day", "dates": "day", "week": "week", "weeks": "week",
    "decade": "decade", "decades": "decade", "century": "century", "centuries": "century",
}  # fmt: skip
TURNS: Final = frozenset("time times term terms occasion occasions turn turns stint stints".split())
PERIODS: Final = frozenset("period periods time times years dates interval span".split())
HEADS: Final = frozenset(
    "man woman person people one ones individual individuals somebody someone anyone anybody "
    "those everyone everybody anyone figure figures".split()
)
SINGULAR_UNKNOWN: Final = frozenset("person man woman individual one thing".split())

ORDINALS: Final = {
    word: n
    for n, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth "
        "twentieth".split(),
        1,
    )
}
FIRST: Final = frozenset("first earliest initial original oldest initially originally".split())
LAST: Final = frozenset("last latest final newest finally recent recently lastly".split())
NEXT: Final = frozenset("next following subsequent subsequently".split())
PREVIOUS: Final = frozenset("previous preceding prior previously penultimate".split())
NEIGHBOUR: Final = frozenset("immediately directly right just straight".split())
NEXT_VERBS: Final = frozenset("succeed follow replace supersede supplant".split())
PREVIOUS_VERBS: Final = frozenset("precede".split())
NEXT_NOUNS: Final = frozenset("successor replacement".split())
PREVIOUS_NOUNS: Final = frozenset("predecessor".split())

STARTING: Final = frozenset(
    "become start begin commence join marry found establish create elect appoint move bear die "
    "open build launch inaugurate crown enter assume win adopt wed publish write sign born birth "
    "death take arrive settle happen occur form invent discover introduce conquer annex kill "
    "lose divorce beat defeat".split()
)
ENDING: Final = frozenset(
    "leave end cease stop quit resign retire finish close abdicate depart conclude expire "
    "step dissolve abolish vacate".split()
)

SINCE: Final = frozenset(("since", "from"))
CONNECTIVES: Final = {
    "while": "during", "whilst": "during", "when": "during", "during": "during",
    "throughout": "throughout", "before": "before", "after": "after", "until": "until",
    "till": "until", "since": "since", "following": "after", "amid": "during",
}  # fmt: skip
LONG_CONNECTIVES: Final = (
    (("at", "the", "same", "time", "as"), "during"),
    (("at", "the", "same", "time", "that"), "during"),
    (("at", "the", "time", "that"), "during"),
    (("at", "the", "time", "when"), "during"),
    (("at", "the", "time", "of"), "during"),
    (("at", "the", "time"), "during"),
    (("at", "a", "time", "when"), "during"),
    (("in", "the", "time", "of"), "during"),
    (("by", "the", "time"), "until"),
    (("in", "the", "same", "year", "as"), "during"),
    (("in", "the", "same", "year", "that"), "during"),
    (("in", "the", "year", "that"), "during"),
    (("in", "the", "year", "when"), "during"),
    (("in", "the", "year", "of"), "during"),
    (("in", "the", "year"), "during"),
    (("the", "year", "that"), "during"),
    (("the", "year", "when"), "during"),
    (("the", "year"), "during"),
    (("for", "as", "long", "as"), "during"),
    (("as", "long", "as"), "during"),
    (("so", "long", "as"), "during"),
    (("as", "soon", "as"), "after"),
    (("for", "the", "whole", "of"), "throughout"),
    (("in", "the", "course", "of"), "during"),
    (("over", "the", "course", "of"), "during"),
    (("prior", "to"), "before"),
    (("previous", "to"), "before"),
    (("ahead", "of"), "before"),
    (("subsequent", "to"), "after"),
    (("from", "the", "time"), "since"),
)

NOBODY: Final = frozenset("no nobody none noone without vacant unoccupied unfilled".split())
"""Words that say that nothing of a kind holds: "when was there no …", "without a …"."""
NEGATIONS: Final = NOBODY | frozenset(
    "not n't never neither nor nothing nowhere except excluding besides".split()
)

# Words that carry no relation: they frame the question or hedge it.
FRAMING: Final = (
    AUXILIARIES
    | DETERMINERS
    | PREPOSITIONS
    | PRONOUNS
    | HEADS
    | frozenset(WH)
    | frozenset(
        "and or not also ever then there there's please me us you i we can tell know say "
        "time any anyone everyone together only now currently still back again else same "
        "record recorded known documented listed database according answer question "
        "complete full entire whole point number count everybody everything various different "
        "particular ".split()
    )
)
LIGHT: Final = frozenset(
    "hold serve have become take get make go come do act remain stay begin start cease stop end "
    "quit leave finish enter assume step".split()
)
"""Verbs that say little of a relation; they count a third of a content word."""

IDEAS: Final = tuple(
    frozenset(group.split())
    for group in (
        "marry married marriage spouse wife husband wed wedded partner consort",
        "bear born birth birthplace native",
        "die death deathplace deceased perish",
        "rule ruler reign monarch king queen emperor empress sovereign regent",
        "govern governor governorship government proconsul administer",
        "own owner ownership possess proprietor belong property",
        "work employ employer employee employment job workplace",
        "attend study educate education student alumnus university school college degree "
        "graduate",
        "member belong membership affiliate affiliation party join",
        "play player team club squad",
        "hold office position post role serve occupy title job duty function",
        "lead leader leadership head chief chair chairman chairwoman chairperson",
        "coach manager manage trainer train",
        "live reside residence home inhabit dwell",
        "locate located location situate situated lie headquarters headquartered seat base based "
        "site",
        "found founder foundation establish establishment create creator",
        "write author writer authorship",
        "win winner victor victory",
        "lose loser defeat",
        "build builder construct construction architect",
        "parent father mother", "child son daughter", "sibling brother sister",
        "name call rename title know",
        "population inhabitant resident people populous",
        "merge merger unite union unification", "acquire acquisition takeover buy purchase",
        "country nation state", "employ employer company organisation organization",
        "perform performer act actor star portray", "compose composer", "direct director",
        "nationality citizen citizenship", "capital capitol",
        "operate operator run", "sponsor sponsorship", "teach teacher student pupil",
        "award prize receive win recipient",
    )
)  # fmt: skip
"""Groups of dictionary forms, across parts of speech, that one relation may be worded with."""

PLACE_WORDS: Final = frozenset("city town country place location region state village".split())
HONORIFICS: Final = frozenset(
    "mr mrs ms miss dr prof professor sir dame lord lady king queen emperor empress pope saint st "
    "president senator governor general captain prince princess duke duchess count rev reverend "
    "the".split()
)
