"""Archives of a node, and what is checked of one, of a record, of a checkpoint. All of it pure."""
