"""Published figures as Markdown tables, made from the result files and nothing else."""
