//! Every setting: files, environment, precedence, schema. The only room that reads the environment.
