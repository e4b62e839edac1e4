//! Personas as callers make and change them, in a real database.
