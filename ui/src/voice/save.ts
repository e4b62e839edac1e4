// Downloads of audio files.
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

/** File extension for a media type. */
export const ending = (type: string): string => ENDINGS[type.split(';')[0]?.trim() ?? ''] ?? 'bin';

/** Downloads `blob` under `name` with an extension that matches its type. */
export const save = (blob: Blob, name: string): void => saveAs(blob, `${name}.${ending(blob.type)}`);
