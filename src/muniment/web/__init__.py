"""The web page: built from `web/` by `tools/web`, included in this package, served at `/`."""
