"""Operations on ragged values."""
