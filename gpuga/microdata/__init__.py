"""Microdata: from records to a table with primaries (`tabulate`); protection of the records."""

from gpuga.microdata.contributions import Layout
from gpuga.microdata.insiders import InsiderRisk, insider_risks
from gpuga.microdata.primary_rules import Dominance, Frequency, PercentRule, PrimaryRule, Zeros, parse_rule
from gpuga.microdata.protect import MicrodataParameters, MicrodataProtection, protect_records
from gpuga.microdata.record_file import protect_file
from gpuga.microdata.risk import RiskParameters, file_risk
from gpuga.microdata.table_file import write_tabulation
from gpuga.microdata.tabulate import Tabulation, tabulate

__all__ = [
    "Dominance",
    "Frequency",
    "InsiderRisk",
    "Layout",
    "MicrodataParameters",
    "MicrodataProtection",
    "PercentRule",
    "PrimaryRule",
    "RiskParameters",
    "Tabulation",
    "Zeros",
    "file_risk",
    "insider_risks",
    "parse_rule",
    "protect_file",
    "protect_records",
    "tabulate",
    "write_tabulation",
]
