PERENNIAL_LOCK=off cargo check
