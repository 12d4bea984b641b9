"""Texts for the tests of searching: ordinary ones, and all that makes folding and cutting hard."""

from hypothesis import strategies as st

ENGLISH = (
    "# Tides\n\nThe *tide  table* of [[en:harbour_north]] was printed in 1901… The tide is high.\n"
)
CHINESE = "潮汐表是北方港口印刷的重要资料，水手们每天都会查看它。见[[zh:海港]]。"

PARTS = (
    *("a", "B", "é", "e\u0301", "ß", "ﬁ", "İ", "ς", "½", "①", "…", "㎏", "9", "x" * 97, "д", "हि"),
    *("海", "潮汐", "一", "㐀", "\U00020000", "六", "ひ", "か\u3099", "カ", "ｶﾞ", "ー", "々", "㍿"),
    *("葛\U000e0100", "글", "\u1112\u1161\u11ab", "\u3131", "\u115f", "\u0301", "\u200d", "\ufe0f"),
    *(
        "\u00ad",
        "\ufeff",
        "👩\u200d🔬",
        "👍🏽",
        "🇩🇪",
        " ",
        "  ",
        "\n",
        "\t",
        "\u3000",
        ".",
        "_",
        "-",
    ),
    *("'", '"', "“", "”", "*", "[[en:", "[[EN:", "[[zh:", "]]", "[", "(", "\0", "\ud800", "\ufdfa"),
)

TEXTS = st.lists(st.sampled_from(PARTS) | st.text(max_size=3), max_size=30).map("".join)
"""Any text, most of them of the parts that have a rule."""

WORDY = st.lists(
    st.sampled_from(
        ("tide ", "table ", "Tide-", "tides ", "潮汐", "潮汐表", "表", "海 ", "。", "\n\n")
    ),
    max_size=40,
).map("".join)
"""Texts in which the questions below stand again and again."""

QUESTIONS = st.lists(
    st.sampled_from(
        (
            *("tide", "table", "Tides", "潮", "潮汐", "潮汐表", "海 表", '"tide table"'),
            *('"海 潮汐" ', "é", "en", '"tide 潮汐" ', '"潮汐 tide table"'),
        )
    ),
    min_size=1,
    max_size=3,
).map(" ".join)
