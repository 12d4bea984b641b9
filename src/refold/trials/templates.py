"""Templates to fill in, and examples that are right, from the tables. Source: the format text."""

from refold.trials.tables import END, NODE, Field, Format

__all__ = ["example", "template"]


def template(form: Format, origin: str) -> str:
    """Give the template of a format for the node at `origin`; what stands in <> is replaced."""
    lines = [form.marker, f"{NODE.name}: {origin}"]
    lines += [f"{field.name}: {_blank(field)}" for field in form.fields]
    return "\n".join((*lines, END, f"<optional: {form.free}>"))


def example(form: Format, origin: str) -> str:
    """Give a post of a format that a preview at `origin` accepts, but for what it answers."""
    lines = [form.marker, f"{NODE.name}: {origin}"]
    lines += [f"{field.name}: {field.example}" for field in form.fields if field.example]
    return "\n".join(lines)


def _blank(field: Field) -> str:
    if field.values:
        return " | ".join(field.values)
    says = f"{field.says}; YYYY-MM-DDTHH:MM:SSZ" if field.form == "time" else field.says
    # Some are needed with certain values of another field, and say so themselves.
    is_needed = field.required or says.startswith("required ")
    return f"<{says}>" if is_needed else f"<optional: {says}>"
