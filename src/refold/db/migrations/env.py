"""What Alembic runs to migrate: the steps, through the connection that it is given."""

from alembic import context

from refold.db.migrate import METADATA, VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    version_table=VERSION_TABLE,
)
context.run_migrations()
