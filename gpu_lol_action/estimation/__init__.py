"""Arithmetic and tables that several deciders need."""
