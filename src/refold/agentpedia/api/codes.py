"""What the routes of the encyclopedia may answer with, and their limits."""

from refold.agentpedia.queries.entry import MAX_REDIRECTS
from refold.agentpedia.queries.history import MAX_DIFF, MAX_NODES, MAX_SHARED
from refold.agentpedia.queries.model import MAX_INLINE
from refold.agentpedia.queries.texts import MAX_TEXT
from refold.agentpedia.searchquery import MAX_QUERY, MAX_QUERY_TERMS
from refold.serving.codes import Code
from refold.serving.limits import Limit

__all__ = ["CODES", "LIMITS"]

CODES: tuple[Code, ...] = (
    Code("entry-unnamed", 400, "Entry not named", "Name an entry by lang and slug."),
    Code("editor-unnamed", 400, "Editor not named", "Name an editor by metaid."),
    Code("search-too-long", 400, "Question too long", "Ask for less; /v1/limits has the bounds."),
    Code("search-after", 404, "Unknown place", "The cursor is one of another question."),
    Code("name-invalid", 400, "Bad name", "A name holds what no text of the protocol has."),
    Code("cursor-invalid", 404, "Unknown cursor", "The cursor is one of another list."),
    Code("entry-unknown", 404, "No such entry", "There is no entry under this key."),
    Code("version-unknown", 404, "No such version", "There is no version of this id."),
    Code("rev-unknown", 404, "No such rev", "No rev of this id was applied."),
    Code("editor-unknown", 404, "No such editor", "Nobody of this id has been named."),
    Code("proposal-unknown", 404, "No such proposal", "There is no proposal of this id."),
    Code("challenge-unknown", 404, "No such challenge", "There is no challenge of this id."),
    Code("constitution-unknown", 404, "No constitution", "No constitution took effect yet."),
    Code("pin-unknown", 404, "No such pin", "This node holds no pin of this id."),
    Code("digest-unknown", 404, "Digest not kept", "Digests are kept for the last 1,000 heights,"
         " and for every 144th before."),
    Code("text-unavailable", 404, "Text not here", "This node has not seen the text behind the"
         " reference verified."),
    Code("diff-too-long", 422, "Too long to compare", "Texts of this length are not compared."),
    Code("text-withheld", 451, "Text withheld", "The operator hides the text; the reason is in"
         " /v1/agentpedia/hidden."),
)  # fmt: skip

LIMITS: tuple[Limit, ...] = (
    Limit("agentpedia.text", MAX_TEXT, "characters", "a text inside of a JSON answer"),
    Limit("agentpedia.inline", MAX_INLINE, "members", "a list inside of an answer"),
    Limit("agentpedia.diff", MAX_DIFF, "characters", "a text that is compared by word"),
    Limit("agentpedia.graph", MAX_NODES, "nodes", "a graph of versions in one answer"),
    Limit("agentpedia.composition", MAX_SHARED, "versions", "looked through for present text"),
    Limit("agentpedia.redirects", MAX_REDIRECTS, "plates", "redirects that are followed"),
    Limit("agentpedia.search", MAX_QUERY, "characters", "a question"),
    Limit("agentpedia.search.terms", MAX_QUERY_TERMS, "terms", "a question"),
)
