//! Arguments to a plan; the loop; the only room that prints, exits, or reads the environment.
