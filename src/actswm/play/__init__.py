"""A local web page on which a person plays a game while a world model imagines what comes next."""
