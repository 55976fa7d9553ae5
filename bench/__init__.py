"""One script per published number. Every figure is a ratio to a named peer or to a bound measured in the same run."""
