sap.ui.define(["promenade/imports/FileError"], function (FileError) {
  "use strict";

  /** What all parts that are read of an archive may have together, whatever the archive says of their size. */
  const UNPACKED_MAX = 128 * 1024 * 1024;
  const DIRECTORY_MAX = 4 * 1024 * 1024;
  const END_BYTES = 22;
  const COMMENT_MAX = 0xffff;
  const [LOCAL, ENTRY, END] = [0x04034b50, 0x02014b50, 0x06054b50];
  const [STORED, DEFLATED] = [0, 8];
  const ENCRYPTED = 1;

  const SUMS = Uint32Array.from({length: 256}, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) {
      sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
    }
    return sum;
  });

  function checksum(bytes) {
    let sum = 0xffffffff;
    for (let at = 0; at < bytes.length; at += 1) {
      sum = SUMS[(sum ^ bytes[at]) & 0xff] ^ (sum >>> 8);
    }
    return (sum ^ 0xffffffff) >>> 0;
  }

  async function viewOf(file, from, length) {
    if (from < 0 || from + length > file.size) {
      throw new FileError("FILE_BROKEN");
    }
    return new DataView(await file.slice(from, from + length).arrayBuffer());
  }

  /** Where the directory is, which stands at the end of an archive, before a comment. */
  async function placeOfDirectory(file) {
    const length = Math.min(file.size, END_BYTES + COMMENT_MAX);
    const view = await viewOf(file, file.size - length, length);
    for (let at = length - END_BYTES; at >= 0; at -= 1) {
      if (view.getUint32(at, true) === END) {
        return {length: view.getUint32(at + 12, true), from: view.getUint32(at + 16, true)};
      }
    }
    throw new FileError("FILE_BROKEN");
  }

  /** The parts of an archive by their names. */
  async function directoryOf(file) {
    const {from, length} = await placeOfDirectory(file);
    if (length > DIRECTORY_MAX) {
      throw new FileError("FILE_BROKEN");
    }
    const view = await viewOf(file, from, length);
    const parts = new Map();
    let at = 0;
    while (at < length) {
      if (at + 46 > length || view.getUint32(at, true) !== ENTRY) {
        throw new FileError("FILE_BROKEN");
      }
      const [nameLength, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true));
      const end = at + 46 + nameLength;
      if (end + extra + comment > length) {
        throw new FileError("FILE_BROKEN");
      }
      const name = new TextDecoder().decode(new Uint8Array(view.buffer, at + 46, nameLength));
      parts.set(name.toLowerCase(), {
        flags: view.getUint16(at + 8, true),
        method: view.getUint16(at + 10, true),
        checksum: view.getUint32(at + 16, true),
        packed: view.getUint32(at + 20, true),
        size: view.getUint32(at + 24, true),
        from: view.getUint32(at + 42, true)
      });
      at = end + extra + comment;
    }
    return parts;
  }

  /** All that a stream gives, which may be at most `most` bytes and is to be `size`. */
  async function collected(stream, size, most) {
    const bytes = new Uint8Array(Math.min(size, most));
    const reader = stream.getReader();
    let length = 0;
    for (;;) {
      const {done, value} = await reader.read();
      if (done) {
        break;
      }
      if (length + value.length > bytes.length) {
        await reader.cancel();
        throw new FileError(length + value.length > most ? "FILE_UNPACKED_TOO_LARGE" : "FILE_BROKEN");
      }
      bytes.set(value, length);
      length += value.length;
    }
    if (length !== size) {
      throw new FileError("FILE_BROKEN");
    }
    return bytes;
  }

  async function bytesOf(file, part, most) {
    if (part.flags & ENCRYPTED) {
      throw new FileError("FILE_PROTECTED");
    }
    if (part.size > most) {
      throw new FileError("FILE_UNPACKED_TOO_LARGE");
    }
    const head = await viewOf(file, part.from, 30);
    const from = part.from + 30 + head.getUint16(26, true) + head.getUint16(28, true);
    const isKnown = part.method === STORED || part.method === DEFLATED;
    if (head.getUint32(0, true) !== LOCAL || !isKnown || from + part.packed > file.size) {
      throw new FileError("FILE_BROKEN");
    }
    const packed = file.slice(from, from + part.packed).stream();
    const unpacked = part.method === STORED ? packed : packed.pipeThrough(new DecompressionStream("deflate-raw"));
    const bytes = await collected(unpacked, part.size, most);
    if (checksum(bytes) !== part.checksum) {
      throw new FileError("FILE_BROKEN");
    }
    return bytes;
  }

  return {
    UNPACKED_MAX,

    /**
     * An archive: `has(name)`, and `text(name)`, the text of a part, unpacked when it is asked for.
     *
     * @param {Blob} file
     */
    async open(file) {
      const parts = await directoryOf(file);
      let left = UNPACKED_MAX;
      return {
        has: (name) => parts.has(name.toLowerCase()),
        async text(name) {
          const part = parts.get(name.toLowerCase());
          if (!part) {
            throw new FileError("FILE_BROKEN");
          }
          try {
            const bytes = await bytesOf(file, part, left);
            left -= bytes.length;
            return new TextDecoder("utf-8", {fatal: true}).decode(bytes);
          } catch (error) {
            throw error instanceof FileError ? error : new FileError("FILE_BROKEN");
          }
        }
      };
    }
  };
});
