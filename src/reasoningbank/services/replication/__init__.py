"""What banks that share no database tell one another: capturing changes here, and taking those from elsewhere."""
