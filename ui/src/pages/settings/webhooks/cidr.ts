// Addresses and networks as the gateway reads them, checked while they are typed; the gateway has the last word.

/** The entries of a field in which they stand with commas, spaces or line breaks between. */
export const entries = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Whether `text` is an address or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (more.length > 0) return false;
  const most = isVersion4(address) ? 32 : isVersion6(address) ? 128 : null;
  if (most === null) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

const isVersion4 = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255);

/** The browser's own reading of what may stand in brackets in an address. */
function isVersion6(text: string): boolean {
  if (!text.includes(':') || !/^[\da-fA-F:.]+$/.test(text)) return false;
  try {
    return new URL(`http://[${text}]/`).hostname.length > 2;
  } catch {
    return false;
  }
}
