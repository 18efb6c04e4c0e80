"""QuALITY: options read from responses."""
