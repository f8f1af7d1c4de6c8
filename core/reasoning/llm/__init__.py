"""The language-model reasoner: prompt, typed reply, one strict retry, repair, typed failure."""
