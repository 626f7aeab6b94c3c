"""Words that people write for reserved columns and for totals, in several languages and spellings."""

from __future__ import annotations

import re
import unicodedata

FIGURES = ("value", "weight", "lower", "upper", "sliding", "lb", "ub", "contributors")
"""Columns that can tell a cell's value; blank in published patterns where a cell is suppressed."""

MARKS = ("status", "sensitive", "suppression")
RULE, BETWEEN_RULES = "rule", " and "
"""The column of the rules that made a cell sensitive, and what stands between them."""

MEMBERS = "members"
RESERVED = (*FIGURES, *MARKS, RULE, MEMBERS)

_FIGURE_WORDS = {
    "value": """val vals wert werte valeur valeurs valor valores waarde waarden valore valori varde betrag betraege
        bedrag bedragen montant montants importe importes amount amounts obsvalue cellvalue magnitude figure""",
    "weight": """wgt gewicht gewichte gewichtung gewichten poids ponderation peso pesos weging cost costs kosten
        cout couts coste costes costo costi weighting cellweight""",
    "lower": "lowerlevel lowerlevels lowerprotection lowerprotectionlevel lpl unteresschutzniveau niveauinferieur",
    "upper": "upperlevel upperlevels upperprotection upperprotectionlevel upl oberesschutzniveau niveausuperieur",
    "sliding": "slidinglevel slidinglevels slidingprotection slidingprotectionlevel slide spl",
    "lb": """lowerbound lowerbounds lbound lowbound min minimum untergrenze untereschranke borneinf borneinferieure
        limiteinferior ondergrens""",
    "ub": """upperbound upperbounds ubound upbound max maximum obergrenze obereschranke bornesup bornesuperieure
        limitesuperior bovengrens""",
    "contributors": """contributor respondents respondent freq frequency frequencies count counts n anzahl anz
        haeufigkeit fallzahl faelle meldende beitragende nombre effectif effectifs contribuants numero recuento
        frecuencia contribuyentes aantal aantallen frequentie respondenten ncontributors nunits""",
}
_MARK_WORDS = {
    "status": """statut flag flags flagge kennzeichen kennz markierung merker vermerk sperrvermerk marke obsstatus
        confstatus confidentiality confidential confidentialite confidentiel confidencial confidencialidad
        vertraulich vertraulichkeit vertrouwelijk vertrouwelijkheid geheim geheimhaltung geheimhouding secret
        secreto secrecy primary primaries primaer primaire primario disclosive unsafe estatus cellstatus
        statuscode statusflag sdcstatus""",
    "sensitive": """sensitivity sensitiv sensitivitaet sensibel sensible sensibilite sensibilidad gevoelig
        gevoeligheid issensitive sensitif""",
    "suppression": "suppress suppressed unterdrueckung unterdrueckt onderdrukking onderdrukt supresion",
    "members": "mitglieder membres miembros leden",
}

FIGURE_ALIAS = {word: name for name, words in _FIGURE_WORDS.items() for word in words.split()}
MARK_ALIAS = {word: name for name, words in _MARK_WORDS.items() for word in words.split()}

_TOTALS = """total totals totaal totale totali totaux totalt totalen subtotal subtotals subtotaal grandtotal gesamt
    insgesamt gesamtsumme gesamtheit zusammen summe zwischensumme ensemble somme sommes suma somma summa overall
    altogether celkem spolu ogolem razem yhteensa ialt osszesen ukupno skupaj sveukupno kokku kopa viso toplam vsego
    itogo всего итого"""
_PERHAPS_TOTALS = """t tot ttl all alle alles allen sum som tous toutes tout todo todos todas tutti tutte tutto alla
    allt both beide beides everything everyone aggregate"""
_TOTAL_WORDS, _WEAK_TOTAL_WORDS = frozenset(_TOTALS.split()), frozenset(_PERHAPS_TOTALS.split())

_BETWEEN_WORDS = re.compile(r"[\s_\-/:,;()\[\]]+")
_LETTERS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "æ": "ae", "ø": "oe", "å": "a", "ł": "l"})


def plain(text: str) -> str:
    """Letters and digits only, in small letters and without accents: how two spellings are compared."""
    if text.isascii():
        return "".join(filter(str.isalnum, text.lower()))
    folded = unicodedata.normalize("NFC", text).casefold().translate(_LETTERS)
    bare = unicodedata.normalize("NFKD", folded)
    return "".join(c for c in bare if c.isalnum())


def reserved_alike(name: str) -> str | None:
    """The reserved column of which a name is another spelling: case, plural, accents, blanks, signs."""
    bare = plain(name)
    for word in RESERVED:
        if bare in (word, word + "s", word + "es", word.removesuffix("s")):
            return word
    return None


def slip_of_the_pen(name: str) -> str | None:
    """The reserved column that a name becomes by one letter more, one less, or two letters exchanged."""
    bare = plain(name)
    for word in RESERVED:
        if len(word) >= 5 and (bare in _shorter(word) or word in _shorter(bare) or bare in _exchanged(word)):
            return word
    return None


def _shorter(word: str) -> set[str]:
    return {word[:i] + word[i + 1 :] for i in range(len(word))}


def _exchanged(word: str) -> set[str]:
    return {word[:i] + word[i + 1] + word[i] + word[i + 2 :] for i in range(len(word) - 1)}


def named_like_a_total(code: str) -> bool:
    """Whether a code says in some language that it is a total: `TOTAL`, `Insgesamt`, `Total manufacturing`."""
    words = [word for word in _BETWEEN_WORDS.split(code) if word]
    return any(plain(text) in _TOTAL_WORDS for text in (code, *words[:1], *words[-1:]))


def perhaps_a_total(code: str) -> bool:
    """Whether a code may mean a total, but may also be a category of its own: `All`, `T`, `Sum`."""
    return plain(code) in _WEAK_TOTAL_WORDS
