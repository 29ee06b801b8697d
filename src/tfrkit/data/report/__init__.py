"""What a pipeline says about itself: explain and profile."""
