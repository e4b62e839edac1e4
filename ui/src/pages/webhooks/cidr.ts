// Checks IP addresses and networks while typing; the gateway makes the final check.

/** Splits a list at commas, spaces and line breaks. */
export const entries = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Whether `text` is an IP address or a network such as `10.0.0.0/8`. */
export function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  if (more.length > 0) return false;
  const most = isVersion4(address) ? 32 : isVersion6(address) ? 128 : null;
  if (most === null) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most);
}

const isVersion4 = (text: string): boolean =>
  /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((part) => Number(part) <= 255);

/** Uses the browser's parser for IPv6 hosts in URLs. */
function isVersion6(text: string): boolean {
  if (!text.includes(':') || !/^[\da-fA-F:.]+$/.test(text)) return false;
  try {
    return new URL(`http://[${text}]/`).hostname.length > 2;
  } catch {
    return false;
  }
}
