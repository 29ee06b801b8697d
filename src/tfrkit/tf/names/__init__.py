"""Tables from TensorFlow's names to what stands behind them; data only."""
