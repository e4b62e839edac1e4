/**
 * Returns the beginning of a text, at most `most` UTF-16 code units, without splitting a surrogate pair. A lone
 * surrogate is invalid in JSON.
 */
export const beginningOf = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');

/**
 * Returns the end of a text, at most `most` UTF-16 code units, without splitting a surrogate pair.
 */
export const endOf = (text: string, most: number): string => text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '');
