"""Read programs beside each other: what they import of the checkout, what of them a start reaches, and what they do."""
