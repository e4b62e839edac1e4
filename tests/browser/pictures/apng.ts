// Writes an animated PNG (https://www.w3.org/TR/png-3/#apng-frame-based-animation) from screenshots of the same size. Each
// frame has only the rectangle that changed.
import { crc32, deflateSync, inflateSync } from 'node:zlib';

const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const RGB = 3;

interface Image {
  width: number;
  height: number;
  /** Three bytes for each pixel. */
  pixels: Buffer;
}

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Shot {
  png: Buffer;
  /** How long it is shown. */
  ms: number;
}

export function apngOf(shots: readonly Shot[]): Buffer {
  const frames: { box: Box; data: Buffer; ms: number }[] = [];
  let before: Image | null = null;
  for (const { png, ms } of shots) {
    const image = decode(png);
    const box = changed(before, image);
    const last = frames.at(-1);
    if (box) frames.push({ box, data: encode(image, box), ms });
    else if (last) last.ms += ms;
    before = image;
  }
  if (!before) throw new Error('no shots');
  const head = Buffer.alloc(13);
  head.writeUInt32BE(before.width, 0);
  head.writeUInt32BE(before.height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const control = Buffer.alloc(8);
  control.writeUInt32BE(frames.length, 0);
  const chunks = [chunk('IHDR', head), chunk('acTL', control)];
  let sequence = 0;
  for (const [at, { box, data, ms }] of frames.entries()) {
    const frame = Buffer.alloc(26);
    frame.writeUInt32BE(sequence++, 0);
    frame.writeUInt32BE(box.width, 4);
    frame.writeUInt32BE(box.height, 8);
    frame.writeUInt32BE(box.x, 12);
    frame.writeUInt32BE(box.y, 16);
    frame.writeUInt16BE(ms, 20);
    frame.writeUInt16BE(1000, 22);
    chunks.push(chunk('fcTL', frame));
    if (at === 0) {
      chunks.push(chunk('IDAT', data));
    } else {
      const number = Buffer.alloc(4);
      number.writeUInt32BE(sequence++, 0);
      chunks.push(chunk('fdAT', Buffer.concat([number, data])));
    }
  }
  return Buffer.concat([SIGNATURE, ...chunks, chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

/** The smallest rectangle that contains every difference; null if there is none. */
function changed(before: Image | null, image: Image): Box | null {
  const { width, height, pixels } = image;
  if (!before) return { x: 0, y: 0, width, height };
  if (before.width !== width || before.height !== height) throw new Error('the shots have different sizes');
  let [left, top, right, bottom] = [width, height, -1, -1];
  for (let y = 0; y < height; y++) {
    const row = y * width * RGB;
    if (before.pixels.compare(pixels, row, row + width * RGB, row, row + width * RGB) === 0) continue;
    top = Math.min(top, y);
    bottom = y;
    for (let at = 0; at < width * RGB; at++) {
      if (before.pixels[row + at] === pixels[row + at]) continue;
      const x = Math.floor(at / RGB);
      left = Math.min(left, x);
      right = Math.max(right, x);
    }
  }
  return right < 0 ? null : { x: left, y: top, width: right - left + 1, height: bottom - top + 1 };
}

/** Reads what a browser writes: 8 bits for each of three or four channels, not interlaced. */
function decode(png: Buffer): Image {
  const [width, height, depth, type] = [png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]];
  if (depth !== 8 || (type !== 2 && type !== 6) || png[28] !== 0) throw new Error(`cannot read a PNG of type ${type}`);
  const channels = type === 6 ? 4 : RGB;
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + length));
    at += length + 12;
  }
  const raw = inflateSync(Buffer.concat(data));
  const stride = width * channels;
  const pixels = Buffer.alloc(width * height * RGB);
  let above = Buffer.alloc(stride);
  for (let y = 0; y < height; y++) {
    const from = y * (stride + 1);
    const row = Buffer.from(raw.subarray(from + 1, from + 1 + stride));
    const filter = raw[from] ?? 0;
    for (let at = 0; at < stride; at++) {
      row[at] = (row[at] ?? 0) + predicted(filter, at < channels ? 0 : (row[at - channels] ?? 0), above[at] ?? 0, at < channels ? 0 : (above[at - channels] ?? 0));
    }
    for (let x = 0; x < width; x++) row.copy(pixels, (y * width + x) * RGB, x * channels, x * channels + RGB);
    above = row;
  }
  return { width, height, pixels };
}

/** The prediction of a filter from the bytes to the left, above, and above to the left. */
function predicted(filter: number, left: number, up: number, corner: number): number {
  if (filter === 1) return left;
  if (filter === 2) return up;
  if (filter === 3) return (left + up) >> 1;
  if (filter !== 4) return 0;
  const estimate = left + up - corner;
  const [toLeft, toUp, toCorner] = [Math.abs(estimate - left), Math.abs(estimate - up), Math.abs(estimate - corner)];
  if (toLeft <= toUp && toLeft <= toCorner) return left;
  return toUp <= toCorner ? up : corner;
}

/** The compressed rows of a rectangle, each with the filter that leaves the smallest numbers. */
function encode({ width, pixels }: Image, box: Box): Buffer {
  const stride = box.width * RGB;
  const rows: Buffer[] = [];
  let above = Buffer.alloc(stride);
  for (let y = box.y; y < box.y + box.height; y++) {
    const from = (y * width + box.x) * RGB;
    const row = pixels.subarray(from, from + stride);
    let best = Buffer.alloc(0);
    let least = Infinity;
    for (const filter of [0, 1, 2, 4]) {
      const line = Buffer.alloc(stride + 1);
      line[0] = filter;
      let sum = 0;
      for (let at = 0; at < stride; at++) {
        const left = at < RGB ? 0 : (row[at - RGB] ?? 0);
        const corner = at < RGB ? 0 : (above[at - RGB] ?? 0);
        const rest = ((row[at] ?? 0) - predicted(filter, left, above[at] ?? 0, corner)) & 255;
        line[at + 1] = rest;
        sum += rest < 128 ? rest : 256 - rest;
      }
      if (sum < least) [least, best] = [sum, line];
    }
    rows.push(best);
    above = Buffer.from(row);
  }
  return deflateSync(Buffer.concat(rows), { level: 9 });
}
