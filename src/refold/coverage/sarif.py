"""A report as SARIF 2.1.0: one rule for each code, results by rule and JSON pointer (spec §6)."""

from typing import Any, Final

from refold import __version__
from refold.coverage.codes import CODES, REASONS
from refold.coverage.report import Finding, Report

__all__ = ["sarif"]

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {"BROKEN": "error", "PARTIAL": "warning", "NOTE": "note"}
_RULES: Final[list[dict[str, Any]]] = [
    *(
        {
            "id": code.id,
            "shortDescription": {"text": code.says},
            "help": {"text": code.remedy},
            "defaultConfiguration": {"level": code.severity},
            "properties": {"rules": list(code.rules)},
        }
        for code in CODES.values()
    ),
    *(
        {
            "id": reason.id,
            "shortDescription": {"text": reason.says},
            "help": {"text": reason.remedy},
            "defaultConfiguration": {"level": _LEVELS[reason.effect]},
            "properties": {"rules": list(reason.rules)},
        }
        for reason in REASONS.values()
    ),
]
_INDEX: Final = {rule["id"]: index for index, rule in enumerate(_RULES)}


def sarif(report: Report, uri: str = "") -> dict[str, Any]:
    """Give the SARIF log of a report: a JSON value, keys in a fixed order.

    Errors and warnings of the record stand at their JSON pointer, replay reasons at the pointer of
    their unit, reasons of the judgement at the whole record. `uri` names the record's file.
    """
    results = [_finding(finding, uri) for finding in (*report.errors, *report.warnings)]
    for index, unit in enumerate(report.units):
        for reason in unit.reasons:
            text = f"{unit.id}: {unit.why.get(reason) or REASONS[reason].says}"
            results.append(_result(reason, text, f"/corpus/units/{index}", uri))
    results += [_result(reason, REASONS[reason].says, "", uri) for reason in report.reasons]
    return {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "refold", "version": __version__, "rules": _RULES}},
                "results": results,
                "properties": {
                    "judgement": report.judgement,
                    "coverage": report.coverage,
                    "receiptHash": report.receipt_hash,
                    "basis": report.basis,
                },
            }
        ],
    }


def _finding(finding: Finding, uri: str) -> dict[str, Any]:
    return _result(finding.code, finding.message, finding.pointer, uri)


def _result(rule: str, text: str, pointer: str, uri: str) -> dict[str, Any]:
    index = _INDEX[rule]
    location: dict[str, Any] = {
        "logicalLocations": [{"fullyQualifiedName": pointer, "kind": "element"}]
    }
    if uri:
        location["physicalLocation"] = {"artifactLocation": {"uri": uri}}
    return {
        "ruleId": rule,
        "ruleIndex": index,
        "level": _RULES[index]["defaultConfiguration"]["level"],
        "message": {"text": text},
        "locations": [location],
    }
