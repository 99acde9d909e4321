# A tap's formula. `url` and `sha256` are those of a release's tarball (docs/packaging/README.md, "A release").
class Tmuxwire < Formula
  desc "Daemon that drives tmux: exact input, streams, waits, recordings"
  homepage "https://github.com/tmuxwire/tmuxwire"
  url "https://github.com/tmuxwire/tmuxwire/releases/download/v0.1.0/tmuxwire-0.1.0.tgz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "node"
  depends_on "tmux"

  def install
    system "npm", "install", *std_npm_args
    bin.install_symlink Dir["#{libexec}/bin/*"]
  end

  service do
    run [opt_bin/"tmuxwire", "serve"]
    keep_alive successful_exit: false
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/tmuxwire --version")
  end
end
