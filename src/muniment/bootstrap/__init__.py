"""Puts the parts together from the settings. The only package that names concrete adapters."""
