/** The beginning of a text: at most `most` UTF-16 code units, without half of a character. Half of one is not valid in JSON. */
export const beginningOf = (text: string, most: number): string => text.slice(0, most).replace(/[\uD800-\uDBFF]$/, '');

/** The end of a text: at most `most` UTF-16 code units, without half of a character. */
export const endOf = (text: string, most: number): string => text.slice(-most).replace(/^[\uDC00-\uDFFF]/, '');
