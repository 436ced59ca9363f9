// Unpacks each `<name>.br` of the working directory to `<name>`: Node.js knows Brotli, tar and unzip do not.
const {readdirSync, createReadStream, createWriteStream} = require("fs");
const {createBrotliDecompress} = require("zlib");

for (const name of readdirSync(".").filter((one) => one.endsWith(".br"))) {
  createReadStream(name).pipe(createBrotliDecompress()).pipe(createWriteStream(name.slice(0, -3)));
}
