"""Operations on sparse values."""
