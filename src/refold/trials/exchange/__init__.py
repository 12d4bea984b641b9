"""Archives of nodes written from a database, and taken into one."""
