"""Where lessons may come from and go to: JSON lines, documents and databases of other tools, folders of Markdown."""
