/** What every error of this package is. */
export class CuckooFilterError extends Error {
	get name() {
		return this.constructor.name;
	}
}

/** The bytes are not a valid filter, or not one that keys can be looked up in. */
export class FormatError extends CuckooFilterError {}

/** Not a key type, or not the key type of the filter. */
export class KeyTypeError extends CuckooFilterError {}

/** The value is not one of its key type. */
export class KeyValueError extends CuckooFilterError {}

/** Throws a FormatError unless the condition holds. */
export function require(condition, message) {
	if (!condition) {
		throw new FormatError(message);
	}
}
