// In place of modules that the tests need only for drivers on a network.
