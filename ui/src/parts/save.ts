// Downloads of files that the web UI creates.
import { revokeLater } from './objectUrl';

/** Starts a download of `blob` as a file called `name`. */
export function saveAs(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  revokeLater(url);
}
