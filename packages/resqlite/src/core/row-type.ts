/** The key of a property that does not exist: it carries the type of a query's rows. */
export declare const rowType: unique symbol
