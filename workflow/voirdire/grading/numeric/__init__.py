"""GSM8K and AIME: numbers read from responses."""
