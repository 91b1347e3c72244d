"""The web page: built from `web/` by `tools/web`, carried in this package, served at `/`."""
