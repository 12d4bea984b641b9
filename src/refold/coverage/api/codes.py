"""What the routes of coverage may answer with: their own codes, and those of records."""

from refold.coverage.codes import CODES as OF_RECORDS
from refold.serving.codes import Code

__all__ = ["CODES", "RECORD_CODES"]

RECORD_CODES = tuple(code.id for code in OF_RECORDS.values() if code.severity == "error")
"""Codes of a record that is not valid, where only a valid one will do."""

CODES: tuple[Code, ...] = (
    Code("receipt-unknown", 404, "No such receipt", "No receipt of this receiptHash is stored."),
    Code("report-unknown", 404, "No report yet", "The receipt was not checked yet, or the job has"
         " not ended with a report."),
    Code("job-unknown", 404, "No such job", "There is no job of this id; those that ended are kept"
         " for a day."),
    Code("job-ended", 409, "Job has ended", "There is nothing left to cancel."),
    Code("job-not-yours", 409, "Others wait for it", "The job checks a stored receipt by schedule,"
         " or somebody else asked for it too."),
    Code("store-many", 429, "Too many receipts", "You store receipts faster than the limits allow."
         " Retry-After says when the next one is taken."),
    Code("verify-many", 429, "Too many verifications", "As many verifications as a client may have"
         " have not ended yet."),
    Code("receipt-withheld", 451, "Receipt withheld", "The operator hides the receipt; the reason"
         " is in /v1/coverage/hidden."),
    Code("verify-full", 503, "Too much to verify", "As many verifications as this node takes have"
         " not ended yet."),
    Code("store-full", 503, "Store is full", "No more receipts are stored here."),
    Code("coverage-reading", 503, "This process only reads", "It stores and verifies nothing."),
    *(
        Code(code.id, 422, "Invalid record", f"{code.says} {code.remedy}")
        for code in OF_RECORDS.values()
        if code.severity == "error"
    ),
)  # fmt: skip
