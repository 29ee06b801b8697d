"""Operations on Sparse values. Works without Tensors."""
