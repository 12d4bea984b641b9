"""The documents of a node, made from the tables of its validator. Pure.

Each document has its prose in a Markdown file per language, `NAME.LANGUAGE.md`; every field, limit,
template, class and rule in it comes from the tables by a placeholder `{{ name }}`. The commands of
the shell are the same in all languages. Source: cold trials spec §4.
"""
