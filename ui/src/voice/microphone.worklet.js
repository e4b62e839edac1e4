// Converts the microphone's samples to 16-bit integers and posts them in pieces of about 20 ms. It runs on the browser's
// audio thread, which other work of the page does not delay.
class Microphone extends AudioWorkletProcessor {
  #piece = new Int16Array(Math.round(sampleRate / 50));
  #length = 0;

  process([input]) {
    const channel = input?.[0];
    if (!channel) return true;
    for (const sample of channel) {
      this.#piece[this.#length++] = Math.max(-1, Math.min(1, sample)) * 32767;
      if (this.#length < this.#piece.length) continue;
      const { buffer } = this.#piece;
      this.#piece = new Int16Array(this.#piece.length);
      this.#length = 0;
      this.port.postMessage(buffer, [buffer]);
    }
    return true;
  }
}

registerProcessor('microphone', Microphone);
