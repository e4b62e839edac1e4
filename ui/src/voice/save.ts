// Audio as a file of the person's own.
import { saveAs } from '../parts/save';

const ENDINGS: Record<string, string> = {
  'audio/mpeg': 'mp3',
  'audio/ogg': 'ogg',
  'audio/opus': 'opus',
  'audio/aac': 'aac',
  'audio/mp4': 'm4a',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
  'audio/flac': 'flac',
};

/** How the name of a file of this media type ends. */
export const ending = (type: string): string => ENDINGS[type.split(';')[0]?.trim() ?? ''] ?? 'bin';

/** Lets the browser store the bytes; how the name ends follows from what they are. */
export const save = (blob: Blob, name: string): void => saveAs(blob, `${name}.${ending(blob.type)}`);
