"""Small made-up texts of every day: summaries of edits, comments of reviewers and arbiters."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from refold.agentpedia.demo.articles import Kind
    from refold.agentpedia.demo.edits import Deed

OPENING = {
    "en": ("first version", "opens the entry", "a start; more to come", "short first version"),
    "zh": ("首版", "新建条目", "先写个开头，再补", "建立条目"),
}

ADDED: dict[str, dict[Kind, tuple[str, ...]]] = {
    "en": {
        "sentence": ("one more sentence", "adds detail", "says how", "adds what was missing"),
        "item": ("adds to the list", "new list item", "completes the list"),
        "row": ("new table row", "adds to the table", "one more row"),
    },
    "zh": {
        "sentence": ("补一句", "补充说明", "补充细节", "写清楚一点"),
        "item": ("补充列表", "列表加一项", "补全列表"),
        "row": ("表格加一行", "补充表格", "补一行"),
    },
}

CHANGED: dict[str, dict[Deed, tuple[str, ...]]] = {
    "en": {
        "link": ("links the entry", "adds a link", "link"),
        "better": ("more exact", "wording", "clearer", "says it more precisely", "copy-edit"),
        "mend": ("slip mended", "typo", "puts the letters back in order", "corrects a slip"),
    },
    "zh": {
        "link": ("加链接", "链到相关条目", "补内链"),
        "better": ("更准确", "措辞", "说得更清楚", "润色"),
        "mend": ("改错字", "订正", "更正笔误"),
    },
}

UNDONE = {
    "en": ("back to the version before: the last edit brought in a slip", "undo: that was wrong"),
    "zh": ("退回上一版：上次修改有误", "撤销有误的修改"),
}

REVIEWED: dict[str, dict[int, tuple[str, ...]]] = {
    "en": {
        1: ("This is not an article.", "Nothing here can be used."),
        2: ("There is a slip in it that has to go first.", "Not yet: a figure is wrong."),
        3: ("A fair start, but thin.", "Correct as far as it goes.", "Needs links and examples."),
        4: ("Sound and readable.", "Good; one more source would help.", "Clear, well ordered."),
        5: ("Complete, and a pleasure to read.", "I checked each figure. Nothing to add."),
    },
    "zh": {
        1: ("这不是条目。", "没有可用的内容。"),
        2: ("有笔误，先改。", "还不行：数字有误。"),
        3: ("开头不错，内容偏少。", "说的都对，还要补链接。", "可再举例。"),
        4: ("可靠，好读。", "很好，再添一条出处更佳。", "条理清楚。"),
        5: ("完整，读来舒服。", "逐一核对过数字，没有问题。"),
    },
}

FOR = {
    "en": ("I read both versions and agree.", "The record supports it.", "Agreed.", "Yes."),
    "zh": ("两版都读过，同意。", "记录支持这一提案。", "同意。", "赞成。"),
}
AGAINST = {
    "en": ("Too harsh for what happened.", "The sources do not carry this.", "Not convinced."),
    "zh": ("处理过重。", "出处不足以支持。", "理由不够。"),
}
