"""Operations on Ragged values, and which operations on arrays use them. Works without Tensors."""
