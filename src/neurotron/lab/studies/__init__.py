"""Studies as TOML files: the catalog, and how a file becomes a study."""
