"""What runs inside a sandbox: it imports nothing that isn't there when Python starts."""
